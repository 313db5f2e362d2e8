"""Derives the polynomial coefficients of precast/ops/math/*.h.

Uses the Remez exchange on a grid, with 60 digits. Prints the largest weighted error and the coefficients of each fit.
Needs mpmath: `python3 minimax.py`. The output is for human readers only.
"""
import struct

import mpmath as mp

mp.mp.dps=60
def remez(f,w,a,b,deg,it=12):
    """min max |w(x)(f(x)-p(x))| on [a,b]"""
    n=deg+2
    xs=[(a+b)/2-(b-a)/2*mp.cos(mp.pi*(2*i+1)/(2*n)) for i in range(n)]
    for _ in range(it):
        A=mp.matrix(n,n);B=mp.matrix(n,1)
        for i,x in enumerate(xs):
            for j in range(deg+1):A[i,j]=x**j
            A[i,deg+1]=(-1)**i/w(x)
            B[i]=f(x)
        s=mp.lu_solve(A,B);c=[s[j] for j in range(deg+1)];E=abs(s[deg+1])
        M=600
        g=[a+(b-a)*mp.mpf(i)/M for i in range(M+1)]
        e=[w(x)*(f(x)-mp.polyval(c[::-1],x)) if w(x)!=0 else mp.mpf(0) for x in g]
        ext=[];cur=0
        for i in range(M+1):
            if not ext or (e[i]>0)!=(e[ext[-1]]>0): ext.append(i)
            elif abs(e[i])>abs(e[ext[-1]]): ext[-1]=i
        while len(ext)>n:
            if abs(e[ext[0]])<abs(e[ext[-1]]): ext.pop(0)
            else: ext.pop()
        if len(ext)<n: break
        xs=[g[i] for i in ext]
    return c,max(abs(v) for v in e)
def r64(x): return float(x)
def r32(x): return struct.unpack('f',struct.pack('f',float(x)))[0]
def show(name,c,e,r=r64):
    print(name,'err',mp.nstr(e,4),'log2',mp.nstr(mp.log(e,2),5))
    for i,v in enumerate(c): print('  c%d'%i, repr(r(v)), float.hex(r(v)))
ser=lambda x:sum(x**k/mp.factorial(k+2) for k in range(40))
wexp=lambda x:(x*x+mp.mpf("1e-3"))/mp.exp(x)
h=mp.log(2)/2*mp.mpf('1.0005')
show('exp64 q deg9',*remez(ser,wexp,-h,h,9))
show('exp64 q deg10',*remez(ser,wexp,-h,h,10))
h=mp.log(2)/2*mp.mpf('1.001')
show('exp32 q deg3',*remez(ser,wexp,-h,h,3),r=r32)
show('exp32 q deg4',*remez(ser,wexp,-h,h,4),r=r32)
# log: R(z)/z, z=s^2, weight: s*R /log ~ s*z / (2s) = z/2
zmax=(mp.mpf(3)-2*mp.sqrt(2))**2*mp.mpf('1.0005')
P=lambda z:2*sum(z**k/(2*k+3) for k in range(60))
wl=lambda z:z/2+mp.mpf("1e-5")
show('log64 deg6',*remez(P,wl,mp.mpf(0),zmax,6))
show('log32 deg2',*remez(P,wl,mp.mpf(0),zmax,2),r=r32)
show('log32 deg3',*remez(P,wl,mp.mpf(0),zmax,3),r=r32)
for nm,bits,cut in (('f64',53,32+10),('f32',24,24-9)):
    l=mp.log(2); 
    hi=mp.floor(l*2**cut)/mp.mpf(2)**cut; lo=l-hi
    print(nm,'ln2hi',float.hex(float(hi)),repr(float(hi)),'ln2lo',float.hex(r64(lo) if nm=='f64' else r32(lo)),repr(r64(lo) if nm=='f64' else r32(lo)))
print('log2e',repr(float(1/mp.log(2))),repr(r32(1/mp.log(2))))
# sin r = r + r z P(z), cos r = 1 - z/2 + z z Q(z), z = r^2 up to (pi/4)^2
zmax=(mp.pi/4)**2*mp.mpf('1.001')
tiny=mp.mpf('1e-30')
def sinp(z):
    return sum((-1)**(k+1)*z**k/mp.factorial(2*k+3) for k in range(20))
def cosq(z):
    return sum((-1)**k*z**k/mp.factorial(2*k+4) for k in range(20))
wz=lambda z:z+mp.mpf('1e-4')
show('sin64 deg5',*remez(sinp,wz,mp.mpf(0),zmax,5))
show('cos64 deg5',*remez(cosq,lambda z:z*z+mp.mpf('1e-6'),mp.mpf(0),zmax,5))
show('sin32 deg3',*remez(sinp,wz,mp.mpf(0),zmax,3))
show('cos32 deg3',*remez(cosq,lambda z:z*z+mp.mpf('1e-6'),mp.mpf(0),zmax,3))
# tan r = r (1 + z A(z)) / (1 - z/2 + z^2 B(z)): equal to it at Chebyshev's points
zmax=(mp.pi/4)**2*mp.mpf('1.0005')
at=[zmax/2-zmax/2*mp.cos(mp.pi*(2*i+1)/14) for i in range(7)]
tanz=lambda z:mp.tan(mp.sqrt(z))/mp.sqrt(z)
A=mp.matrix([[z,z**2,z**3,z**4,-tanz(z)*z**2,-tanz(z)*z**3,-tanz(z)*z**4] for z in at])
s=mp.lu_solve(A,mp.matrix([tanz(z)-1-tanz(z)*z/2 for z in at]))
grid=[zmax*mp.mpf(i)/400 for i in range(1,401)]
tanr=lambda z:(1+sum(s[i]*z**(i+1) for i in range(4)))/(1-z/2+sum(s[i]*z**(i-2) for i in range(4,7)))
show('tan64 A0 to A3 B0 to B2',[s[i] for i in range(7)],max(abs(tanr(z)/tanz(z)-1) for z in grid))
# atan t = t + t z P(z) and asin s = s + s z P(z), z up to 1/4
def atanp(z):
    if z<mp.mpf('0.01'): return sum((-1)**(k+1)*z**k/(2*k+3) for k in range(40))
    return (mp.atan(mp.sqrt(z))/mp.sqrt(z)-1)/z
show('atan64 pair deg11',*remez(lambda z:sum((-1)**(k+1)*z**k/(2*k+3) for k in range(90)),wz,mp.mpf(0),(mp.sqrt(2)-1)**2*mp.mpf('1.001'),11)) # of complex pow
show('atan64 deg11',*remez(atanp,lambda z:(z+mp.mpf('1e-4'))/(1+z*atanp(z)),mp.mpf(0),mp.mpf('0.2501'),11,it=9))
def asinp(z):
    return sum(mp.binomial(2*k+2,k+1)/mp.mpf(4)**(k+1)/(2*k+3)*z**k for k in range(110))
show('asin64 deg11',*remez(asinp,wz,mp.mpf(0),mp.mpf('0.2501'),11))
# 2 atanh(u / 2) = u + u^3 (1/12 + v T(v)), v = u^2, u / 2 up to 0.1716 for pow, and 1/5
atanht=lambda v:sum(v**k/mp.mpf(4)**(k+2)/(2*k+5) for k in range(68))
for top in ('0.1178','0.1610'):
    show('log64 tail deg6',*remez(atanht,lambda v:v*v+mp.mpf('1e-6'),mp.mpf(0),mp.mpf(top),6,it=9))
# cbrt: x^(-1/3) = y r^(-1/3) with r = y^3 x, for a first y within 5 %
show('cbrt64 deg4',*remez(lambda r:r**(mp.mpf(-1)/3),lambda r:r**(mp.mpf(1)/3),mp.mpf('0.85991778'),mp.mpf('1.04551012'),4,it=8))
# sinh r = r + r z P(z), cosh r = 1 + z/2 + z^2 Q(z), z = r^2 up to (ln 2 / 2)^2; 2^r = 1 + r/2 + r P(r)
zmax=(mp.log(2)/2*mp.mpf('1.0005'))**2
show('sinh64 deg4',*remez(lambda z:sum(z**k/mp.factorial(2*k+3) for k in range(20)),lambda z:z+mp.mpf('1e-6'),mp.mpf(0),zmax,4,it=9))
show('cosh64 deg3',*remez(lambda z:sum(z**k/mp.factorial(2*k+4) for k in range(20)),lambda z:z*z+mp.mpf('1e-7'),mp.mpf(0),zmax,3,it=9))
L=mp.log(2)
half=lambda r:sum(L**k*r**(k-1)/mp.factorial(k) for k in range(1,40))-mp.mpf('0.5')
show('exp264 deg10',*remez(half,lambda r:(abs(r)+mp.mpf('1e-4'))/mp.mpf(2)**r,mp.mpf('-0.5'),mp.mpf('0.5'),10,it=9))
# erf x = x + x Q(x^2) up to 3/4; beyond, erfc x = e^(-x^2) G(t) / x, x = K (1 + t) / (1 - t)
def erfq(z):
    if z<mp.mpf('1e-8'): return 2/mp.sqrt(mp.pi)*(1-z/3+z*z/10-z**3/42)-1
    return mp.erf(mp.sqrt(z))/mp.sqrt(z)-1
show('erf64 deg10',*remez(erfq,lambda z:1/(1+erfq(z)),mp.mpf(0),mp.mpf('0.5626'),10,it=9))
K=mp.mpf('2.25')
def erfg(t):
    x=K*(1+t)/(1-t)
    return x*mp.exp(x*x)*mp.erfc(x)
place=lambda x:(mp.mpf(x)-K)/(mp.mpf(x)+K)
show('erfc64 deg21',*remez(erfg,lambda t:1/erfg(t),place('0.75'),place('27.5'),21,it=9))
# ln Gamma(2 + t) = t P(t); digamma(1.5 + t) = d P(t) with d the distance from its zero; what Stirling's series leaves, in z = 1 / x^2
mp.mp.dps=40
h=mp.mpf('0.5')
lg=lambda t:mp.loggamma(2+t)/t if abs(t)>mp.mpf('1e-12') else mp.psi(0,2)+t*mp.psi(1,2)/2
show('gammaln64 deg18',*remez(lg,lambda t:1/lg(t),-h,h,18,it=7))
show('gammaln64 series',*remez(lambda z:sum(mp.bernoulli(2*k)/(2*k*(2*k-1))*z**(k-1) for k in range(1,24)),lambda z:mp.mpf(1),mp.mpf(0),mp.mpf(1)/64,6,it=7))
zero=mp.findroot(lambda x:mp.psi(0,x),1.46)
# ln Gamma(1 + t) = t P(t); ln Gamma(zero + t) = ln Gamma(zero) + t^2 P(t), around its least value
one=mp.taylor(mp.loggamma,1,80)
lo=lambda t:mp.polyval(one[:0:-1],t)
show('gammaln64 one deg18',*remez(lo,lambda t:1/lo(t),mp.mpf('-0.2501'),mp.mpf('0.2501'),18,it=7))
least=mp.taylor(mp.loggamma,zero,45)
show('gammaln64 low deg14',*remez(lambda t:mp.polyval(least[:1:-1],t),lambda t:(t*t+mp.mpf('1e-4'))/mp.mpf('0.09'),mp.mpf('1.2499')-zero,mp.mpf('1.7501')-zero,14))
def dg(t):
    d=mp.mpf('1.5')+t-zero
    return mp.psi(0,zero+d)/d if abs(d)>mp.mpf('1e-12') else mp.psi(1,zero)+d*mp.psi(2,zero)/2
show('digamma64 deg22',*remez(dg,lambda t:1/dg(t),-h,h,22,it=7))
show('digamma64 series',*remez(lambda z:sum(mp.bernoulli(2*k)/(2*k)*z**(k-1) for k in range(1,24)),lambda z:mp.mpf(1),mp.mpf(0),mp.mpf(1)/64,6,it=7))
# tanh x = x - x z / M(z), z = x^2 up to 0.9^2 and 1; r coth r = 1 + s C(s), s = r^2, |r| up to ln 2 / 4
def tanh_under(z):
    if z<mp.mpf('1e-6'): return 3+6*z/5-z*z/175+2*z**3/7875
    x=mp.sqrt(z); return z/(1-mp.tanh(x)/x)
def wu(z):
    x=mp.sqrt(z)+mp.mpf('1e-9')
    return (z+mp.mpf('1e-5'))*x/(tanh_under(z)**2*mp.tanh(x))
show('tanh64 M deg7',*remez(tanh_under,wu,mp.mpf(0),mp.mpf('0.8101'),7))
show('tanh32 M deg3',*remez(tanh_under,wu,mp.mpf(0),mp.mpf('1.0005'),3),r=r32)
def coth_part(s):
    r=mp.sqrt(s)
    return (r*mp.coth(r)-1)/s if s>mp.mpf('1e-9') else mp.mpf(1)/3-s/45+2*s*s/945
h=(mp.log(2)/4*mp.mpf('1.001'))**2
show('tanh64 C deg4',*remez(coth_part,lambda s:s+mp.mpf('1e-6'),mp.mpf(0),h,4))
show('tanh32 C deg1',*remez(coth_part,lambda s:s+mp.mpf('1e-6'),mp.mpf(0),h,1),r=r32)
# of softplus of f32, which is computed in f64: log, the tail of exp; erfc x = e^(-x^2) F(t), for erf x of f64
mp.mp.dps=40
zmax=(mp.mpf(3)-2*mp.sqrt(2))**2*mp.mpf('1.0005')
show('log near deg3',*remez(P,wl,mp.mpf(0),zmax,3))
h=mp.log(2)/2*mp.mpf('1.0005')
show('exp near deg5',*remez(ser,wexp,-h,h,5))
def erff(t):
    x=K*(1+t)/(1-t)
    return mp.exp(x*x)*mp.erfc(x)
wf=lambda t:mp.exp(-(K*(1+t)/(1-t))**2)+mp.mpf('1e-4')
show('erf64 F deg15',*remez(erff,wf,place('0.75'),place('6.1'),15,it=8))
# erf x of f32 up to 0.845; erfc x = 2^-(3 + p) beyond, p = w R(w), and the power. The header's differ in their last bits, which were chosen by trial.
show('erf32 deg5',*remez(erfq,lambda z:1/(1+erfq(z)),mp.mpf(0),mp.mpf('0.845')**2,5,it=9),r=r32)
eighth=mp.mpf(r32(mp.findroot(lambda x:mp.erfc(x)*8-1,1.08)))
power=lambda w:-mp.log(mp.erfc(eighth+w),2)
def erfr(w): return (power(w)-power(mp.mpf(0)))/w if abs(w)>mp.mpf('1e-9') else mp.diff(power,0)
wr=lambda w:(abs(w)+mp.mpf('1e-7'))*(mp.erfc(eighth+w)+mp.mpf('2e-9'))*mp.log(2)/mp.erf(eighth+w)
show('erf32 R deg5',*remez(erfr,wr,mp.mpf('0.845')-eighth,4-eighth,5),r=r32)
show('erf32 power deg6',*remez(lambda r:mp.mpf(2)**r,lambda r:mp.mpf(2)**-r,mp.mpf('-0.5001'),mp.mpf('0.5001'),6),r=r32)
# of the functions of f32 in math/f32/, which are computed in f64
L=mp.log(2)
two=lambda r:sum(L**(k+1)*r**k/mp.factorial(k+1) for k in range(40))
h=mp.mpf('0.5001')
show('short sin deg4',*remez(sinp,lambda z:(z+tiny)/(1+z*sinp(z)),mp.mpf(0),(mp.pi/2)**2*mp.mpf('1.0001'),4))
show('short exp2 deg5',*remez(two,lambda r:(abs(r)+mp.mpf('1e-9'))/mp.mpf(2)**r,-h,h,5))
show('short exp2m1 deg6',*remez(two,lambda r:1/two(r),-h,h,6))
show('short cosh deg2',*remez(lambda s:sum(s**k*L**(2*k+2)/mp.factorial(2*k+2) for k in range(20)),lambda s:s+tiny,mp.mpf(0),h*h,2))
show('short sinh deg3',*remez(lambda s:sum(s**k*L**(2*k+1)/mp.factorial(2*k+1) for k in range(20)),lambda s:mp.mpf(1),mp.mpf(0),h*h,3))
Q=lambda z:2*sum(z**k/(2*k+1) for k in range(60))
zmax=(mp.mpf(3)-2*mp.sqrt(2))**2*mp.mpf('1.0005')
for name,base,top,deg in (('ln',mp.mpf(1),zmax,3),('log2',L,zmax,3),('log2',L,zmax,5),('log10',mp.log(10),zmax,3),('atanh',mp.mpf(1),mp.mpf('0.0402'),3)):
    show('short %s deg%d'%(name,deg),*remez(lambda z:Q(z)/base,lambda z:base/Q(z),mp.mpf(0),top,deg))
zmax=(mp.sqrt(2)-1)**2*mp.mpf('1.001')
show('short atan deg4',*remez(lambda z:sum((-1)**(k+1)*z**k/(2*k+3) for k in range(90)),lambda z:z+tiny,mp.mpf(0),zmax,4))
show('short asin deg5',*remez(asinp,lambda z:z+tiny,mp.mpf(0),mp.mpf('0.2501'),5))
show('short cbrt deg6',*remez(lambda e:(1-e)**(-mp.mpf(2)/3),lambda e:(1-e)**(mp.mpf(2)/3),mp.mpf('-0.1035'),mp.mpf('0.1035'),6))
K=mp.mpf(3)
show('short erfc deg10',*remez(erff,lambda t:1/erff(t),-1+mp.mpf('1e-30'),place('10.2'),10,it=7))
h=mp.mpf('0.5001')
show('short gammaln deg9',*remez(lg,lambda t:1/lg(t),-h,h,9,it=7))
show('short digamma deg11',*remez(dg,lambda t:1/dg(t),-h,h,11,it=7))
# tan r = r A(z) / B(z): equal to it at Chebyshev's points
zmax=(mp.pi/4)**2*mp.mpf('1.0002')
tanz=lambda z:mp.tan(mp.sqrt(z))/mp.sqrt(z)
at=[zmax/2-zmax/2*mp.cos(mp.pi*(2*i+1)/10) for i in range(5)]
A=mp.matrix([[1,z,z*z,-tanz(z)*z,-tanz(z)*z*z] for z in at])
a0,a1,a2,b1,b2=mp.lu_solve(A,mp.matrix([tanz(z) for z in at]))
grid=[zmax*mp.mpf(i)/300 for i in range(1,301)]
show('short tan A0 A1 A2 B1 B2',[a0,a1,a2,b1,b2],max(abs((a0+a1*z+a2*z*z)/(1+b1*z+b2*z*z)/tanz(z)-1) for z in grid))
